package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.source.ImportedLine;
import io.millrace.launcher.importing.source.Outcome;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A directory of Traffic Server that a test writes, and assertions about its import. */
abstract class AtsFixture {
    @TempDir
    Path directory;

    Samples samples;

    @BeforeEach
    void start() {
        samples = new Samples(directory);
    }

    void assertHas(String text) {
        assertTrue(samples.yaml().contains(text), () -> "no '" + text + "' in\n" + samples.yaml());
    }

    void assertLacks(String text) {
        assertFalse(samples.yaml().contains(text), () -> "'" + text + "' in\n" + samples.yaml());
    }

    void assertOutcome(Outcome outcome, String file, int line, String said) {
        ImportedLine found = samples.line(file, line);
        assertEquals(outcome, found.outcome(), found::toString);
        assertTrue((found.keys() + " " + found.note()).contains(said), found::toString);
    }

    void assertProblem(String place, String said) {
        assertNull(samples.result().yaml());
        assertTrue(
                samples.result().problems().stream()
                        .anyMatch(problem ->
                                problem.startsWith(directory.resolve(place) + ": ") && problem.contains(said)),
                () -> samples.result().problems().toString());
    }
}
