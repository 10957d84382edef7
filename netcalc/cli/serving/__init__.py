"""What ``netcalc lab`` keeps of its server between two starts."""
