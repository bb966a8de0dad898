package io.millrace.worker;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.millrace.worker.warmup.WarmUpReport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TrainingRunTest {
    @TempDir
    Path directory;

    @Test
    void runsTheWorkloadOfAWarmUpAndLeavesNoFiles() {
        Path own = directory.resolve("training");
        WarmUpReport report = TrainingRun.perform(own, Duration.ofSeconds(3));
        assertNotEquals(WarmUpReport.Outcome.FAILED, report.outcome(), report::toString);
        assertFalse(Files.exists(own));
    }
}
