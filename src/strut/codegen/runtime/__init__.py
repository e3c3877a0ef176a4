"""The C runtime: templates included after the generated model, and the tables it is written from."""
