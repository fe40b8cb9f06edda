from tests.tools.sessions import main

main()
