package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.importing.source.ImportedLine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A directory of Traffic Server that a test writes, and the result of its import. */
final class Samples {
    private final Path directory;
    private @Nullable ImportResult result;

    Samples(Path directory) {
        this.directory = directory;
    }

    /** Writes a file, line by line. */
    Samples file(String name, String... lines) {
        try {
            Files.writeString(directory.resolve(name), String.join("\n", lines) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        result = null;
        return this;
    }

    ImportResult result() {
        ImportResult known = result == null ? AtsImport.read(directory, Path.of("/opt/ats")) : result;
        result = known;
        return known;
    }

    /** Returns the configuration, which must exist, without its comments. */
    String yaml() {
        String yaml = result().yaml();
        assertNotNull(yaml, () -> String.join("\n", result().problems()));
        return yaml.lines()
                .map(line -> line.replaceAll("(^| +)# .*", ""))
                .filter(line -> !line.isBlank())
                .collect(Collectors.joining("\n", "", "\n"));
    }

    /** Returns the only line of a file with this number. */
    ImportedLine line(String file, int number) {
        List<ImportedLine> found = result().lines().stream()
                .filter(line -> line.file().equals(file) && line.line() == number)
                .toList();
        assertEquals(1, found.size(), () -> file + ":" + number + " in " + result().lines());
        return found.get(0);
    }
}
