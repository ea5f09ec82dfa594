"""Not part of the public interface."""
