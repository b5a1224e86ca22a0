"""Adapters to the evaluation hosts: one package a host, neither knows the other."""
