package io.millrace.cli;

import java.nio.file.Files;
import java.nio.file.Path;

/** Programs of this machine that read generated files. */
final class Tool {
    private Tool() {}

    static boolean isInstalled(String name) {
        for (String directory : System.getenv("PATH").split(":", -1)) {
            if (Files.isExecutable(Path.of(directory, name))) {
                return true;
            }
        }
        return false;
    }
}
