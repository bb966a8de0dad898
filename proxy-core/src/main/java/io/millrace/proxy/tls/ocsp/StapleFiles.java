package io.millrace.proxy.tls.ocsp;

import io.millrace.proxy.tls.file.PrivateFile;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory that keeps OCSP answers across restarts, so that responders are not queried again. Thread-safe.
 * Methods block on files.
 *
 * <p>The caller verifies an answer from a file like an answer of a responder, because the file may be damaged or
 * forged.
 */
final class StapleFiles {
    private static final Logger log = LoggerFactory.getLogger(StapleFiles.class);
    private static final String SUFFIX = ".ocsp";

    /**
     * Age at which files are deleted. Answers are valid for at most ten days (CA/Browser Forum, Baseline Requirements
     * 4.9.10).
     */
    private static final long AGE_MILLIS_MAX = 11L * 86_400_000;

    private final Path directory;

    StapleFiles(Path directory) {
        this.directory = directory;
    }

    /** Returns the answer for a certificate; null if there is none. */
    byte @Nullable [] read(String sha256) {
        try {
            Path file = file(sha256);
            return Files.size(file) > HttpOcspTransport.ANSWER_BYTES_MAX ? null : Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            return null;
        } catch (IOException e) {
            log.warn("TLS: a stored OCSP answer cannot be read: {}", e.toString());
            return null;
        }
    }

    /**
     * Writes the answer for a certificate. Replaces the file atomically, because another worker (proxy process) may
     * read it.
     */
    void write(String sha256, byte[] answer) throws IOException {
        PrivateFile.replace(file(sha256), answer);
    }

    /** Deletes old files: expired answers, and temporary files of interrupted writes. */
    void deleteOld(long nowMillis) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path each : files) {
                if (Files.getLastModifiedTime(each).toMillis() < nowMillis - AGE_MILLIS_MAX) {
                    Files.deleteIfExists(each);
                }
            }
        } catch (NoSuchFileException e) {
            log.debug("no OCSP answers yet in {}", directory);
        } catch (IOException e) {
            log.warn("TLS: old OCSP answers cannot be deleted: {}", e.toString());
        }
    }

    private Path file(String sha256) {
        return directory.resolve(sha256 + SUFFIX);
    }
}
