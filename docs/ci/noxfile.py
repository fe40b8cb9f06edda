import nox


@nox.session
def pixels(session: nox.Session) -> None:
    session.install("gallette[jit]", "pytest")
    session.run("python", "-m", "pytest", *session.posargs)
