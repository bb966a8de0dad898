package io.millrace.acme;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The operator's program that sets and removes the TXT records of DNS-01. Methods block until the program ends.
 *
 * @param program executable file
 * @param timeoutNanos time after which the program is killed
 */
record DnsHook(Path program, long timeoutNanos) {
    /** Maximum bytes of the program's output in an error message. */
    private static final int OUTPUT_BYTES_MAX = 500;

    /**
     * Sets a record. The program is expected to end only when the name servers serve the record. Removes the record if
     * the program fails.
     */
    void present(String record, String value) throws IOException, InterruptedException {
        try {
            run("present", record, value);
        } catch (IOException e) {
            try {
                cleanUp(record, value);
            } catch (IOException removalFailure) {
                e.addSuppressed(removalFailure);
            }
            throw e;
        }
    }

    /** Removes a record. */
    void cleanUp(String record, String value) throws IOException, InterruptedException {
        run("cleanup", record, value);
    }

    private void run(String verb, String record, String value) throws IOException, InterruptedException {
        Path output = Files.createTempFile("millrace-dns-hook", ".out");
        try {
            Process process = new ProcessBuilder(List.of(program.toString(), verb, record, value))
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            try {
                process.getOutputStream().close();
                if (!process.waitFor(timeoutNanos, TimeUnit.NANOSECONDS)) {
                    throw new IOException(program + " " + verb + " did not end within "
                            + TimeUnit.NANOSECONDS.toSeconds(timeoutNanos) + " s (tls.acme.dns_hook_timeout)");
                }
            } finally {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
            if (process.exitValue() != 0) {
                throw new IOException(program + " " + verb + " ended with exit code " + process.exitValue() + ": "
                        + outputStart(output));
            }
        } finally {
            Files.deleteIfExists(output);
        }
    }

    /** Returns the beginning of the program's output, without surrounding white space. */
    private static String outputStart(Path output) throws IOException {
        try (InputStream in = Files.newInputStream(output)) {
            return new String(in.readNBytes(OUTPUT_BYTES_MAX), StandardCharsets.ISO_8859_1).strip();
        }
    }
}
