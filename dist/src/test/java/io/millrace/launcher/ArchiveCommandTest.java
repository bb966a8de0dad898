package io.millrace.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.launcher.exit.ExitCode;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class ArchiveCommandTest {
    @Test
    void anUnpackedBuildHasNoArchive() {
        StringWriter err = new StringWriter();
        int exitCode = LauncherMain.commandLine("none")
                .setErr(new PrintWriter(err, true))
                .execute("archive");
        assertEquals(ExitCode.FAILED, exitCode);
        assertEquals(
                "millrace: this build was started from class directories and has no lib directory, so there is no"
                        + " class archive to record; run bin/millrace of an installed distribution\n",
                err.toString());
    }
}
