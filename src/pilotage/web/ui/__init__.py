"""The pages: server-rendered, in English and Korean, working without JavaScript."""
