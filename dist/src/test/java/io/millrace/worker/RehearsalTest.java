package io.millrace.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 30, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RehearsalTest {
    @TempDir
    Path directory;

    @Test
    void servesEveryRequestOfItsOwn() throws IOException {
        assertEquals(4, Rehearsal.perform(directory));
    }
}
