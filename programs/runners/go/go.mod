module bank

go 1.19
