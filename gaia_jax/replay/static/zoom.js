"use strict";
// Zooms and pans the map: wheel, two fingers, buttons, dragging; a double click shows the whole map.
// @panzoom/panzoom and svg-pan-zoom use a transform, which hides the scale from labels; this moves
// the view box.

const MAX_ZOOM = 8;

class Zoom {
  // `stage` holds the SVG and the buttons.
  constructor(stage, svg) {
    Object.assign(this, { stage, svg });
    const { width, height } = svg.viewBox.baseVal;
    this.whole = { x: 0, y: 0, width, height };
    this.box = { ...this.whole };
    this.fingers = new Map();
    this.moved = 0;
    svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.by(Math.exp(-event.deltaY * 0.0016), event);
    }, { passive: false });
    svg.addEventListener("dblclick", () => this.reset());
    svg.addEventListener("pointerdown", (event) => this.down(event));
    svg.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
      svg.addEventListener(name, (event) => this.up(event));
    }
    // Dragging is no click.
    svg.addEventListener("click", (event) => {
      if (this.moved > 8) event.stopPropagation();
    }, true);
    new ResizeObserver(() => this.show()).observe(svg);
  }

  scale() {
    return Math.min(this.svg.clientWidth / this.box.width, this.svg.clientHeight / this.box.height) || 1;
  }

  show() {
    const { x, y, width, height } = this.box;
    this.svg.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    const scale = this.scale();
    this.stage.style.setProperty("--scale", scale.toFixed(3));
    this.stage.classList.toggle("far", scale < 0.6);
  }

  // Zoom by a factor about a point of the screen, by default the middle.
  by(factor, at = null) {
    const scale = this.scale();
    const box = this.svg.getBoundingClientRect();
    const fx = at ? (at.clientX - box.left - box.width / 2) / scale : 0;
    const fy = at ? (at.clientY - box.top - box.height / 2) / scale : 0;
    const width = Math.min(this.whole.width, Math.max(this.whole.width / MAX_ZOOM, this.box.width / factor));
    const real = this.box.width / width;
    const cx = this.box.x + this.box.width / 2 + fx * (1 - 1 / real);
    const cy = this.box.y + this.box.height / 2 + fy * (1 - 1 / real);
    this.place(cx, cy, width);
  }

  // The view about a point of the map, `width` of it across; its middle stays on the map.
  place(cx, cy, width) {
    const height = width * (this.whole.height / this.whole.width);
    const within = (v, half, most) => (half * 2 >= most ? most / 2 : Math.max(half, Math.min(most - half, v)));
    const x = within(cx, width / 2, this.whole.width) - width / 2;
    const y = within(cy, height / 2, this.whole.height) - height / 2;
    this.box = { x, y, width, height };
    this.show();
  }

  pan(dx, dy) {
    const scale = this.scale();
    const { x, y, width, height } = this.box;
    this.place(x + width / 2 - dx / scale, y + height / 2 - dy / scale, width);
  }

  reset() {
    this.box = { ...this.whole };
    this.show();
  }

  down(event) {
    if (!this.fingers.size) this.moved = 0;
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }

  move(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    this.moved += Math.hypot(now.x - before.x, now.y - before.y);
    const others = [...this.fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    this.fingers.set(event.pointerId, now);
    if (others.length) {
      const [other] = others;
      const distance = (at) => Math.hypot(at.x - other.x, at.y - other.y);
      this.by(distance(now) / Math.max(1, distance(before)),
        { clientX: (now.x + other.x) / 2, clientY: (now.y + other.y) / 2 });
    } else if (this.moved > 8) {
      this.stage.classList.add("moving");
      if (!this.svg.hasPointerCapture(event.pointerId)) this.svg.setPointerCapture(event.pointerId);
      this.pan(now.x - before.x, now.y - before.y);
    }
  }

  up(event) {
    this.fingers.delete(event.pointerId);
    if (!this.fingers.size) this.stage.classList.remove("moving");
  }
}
