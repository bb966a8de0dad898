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
                "millrace: an unpacked build has no class archive; run bin/millrace of a packed product\n",
                err.toString());
    }
}
