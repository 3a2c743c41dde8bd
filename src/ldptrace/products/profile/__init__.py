"""A page for the public: how people move, in words and pictures, from randomised reports only."""

from ldptrace.products.profile.page import Profile, profile_page

__all__ = ["Profile", "profile_page"]
