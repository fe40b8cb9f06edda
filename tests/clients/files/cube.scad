difference() { cube(10, center = true); sphere(6); }
