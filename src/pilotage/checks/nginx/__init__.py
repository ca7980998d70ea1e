"""nginx configurations as nginx reads them, with the place of every directive."""
