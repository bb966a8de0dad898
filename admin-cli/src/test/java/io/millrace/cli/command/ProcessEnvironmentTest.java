package io.millrace.cli.command;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProcessEnvironmentTest {
    /** HOME takes precedence over the user database, unless it is not an absolute path. */
    @ParameterizedTest
    @CsvSource({"/data/otto, /data/otto", "otto, ''", "'', ''", ", ''"})
    void theHomeDirectoryIsThatOfTheVariable(@Nullable String variable, String home) {
        Map<String, String> variables = variable == null ? Map.of() : Map.of("HOME", variable);
        assertEquals(
                Path.of(home.isEmpty() ? System.getProperty("user.home") : home),
                ProcessEnvironment.userHome(variables));
    }
}
