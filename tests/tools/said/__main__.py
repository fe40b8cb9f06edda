from tests.tools.said import main

main()
