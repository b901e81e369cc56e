"""The referee: the whole game a second time, as plain Python objects, written from the rulings."""
