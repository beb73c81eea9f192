"""Every rule worth arguing about, without files, clocks or chance."""
