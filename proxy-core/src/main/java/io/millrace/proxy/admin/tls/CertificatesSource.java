package io.millrace.proxy.admin.tls;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Answers what is known of TLS certificates. Thread-safe; nothing here blocks the caller. */
public interface CertificatesSource {
    /**
     * One certificate. Times are seconds since 1970, 0 where there is none.
     *
     * @param file of the chain
     * @param key its file; the same where both are in one
     * @param names what it is used for
     * @param state valid, expiring, expired, faulty (the version before the fault serves) or unusable
     * @param issuer null, as everything up to {@code notes} is empty, where no version could be read
     * @param chain subjects in the order in which they are sent
     * @param notes what is odd and keeps it from nothing
     * @param settings TLS settings of these names, each as in the configuration
     * @param problem file and reason; null where there is none
     */
    record Certificate(
            String file,
            String key,
            List<String> names,
            String state,
            @Nullable String issuer,
            long notBefore,
            long notAfter,
            String keyType,
            String serial,
            String sha256,
            List<String> chain,
            List<String> notes,
            List<String> settings,
            long loaded,
            @Nullable String problem,
            long problemSince) {
        public Certificate {
            names = List.copyOf(names);
            chain = List.copyOf(chain);
            notes = List.copyOf(notes);
            settings = List.copyOf(settings);
        }
    }

    /**
     * One name with automatic certificates. Times are seconds since 1970, 0 where there is none.
     *
     * @param state valid, pending, failing or expired
     * @param issuer URL of the issuer of the certificate; empty before the first one
     * @param renewal when the next certificate is ordered
     * @param retry no order before this time, after a failure
     * @param failures orders that failed in a row
     * @param problem of the last failed order; null where it did not fail
     */
    record Automatic(
            String name,
            String state,
            String issuer,
            long notAfter,
            long renewal,
            long retry,
            int failures,
            @Nullable String problem,
            long problemSince) {}

    /** A directory that cannot be read. */
    record Directory(String path, String problem) {}

    /** What was found where somebody asked to look. */
    record Checked(List<Certificate> certificates, List<Directory> directories) {
        public Checked {
            certificates = List.copyOf(certificates);
            directories = List.copyOf(directories);
        }
    }

    /** Every certificate in the order of the configuration, as of the last look. */
    List<Certificate> certificates();

    /** Directories of the configuration that cannot be read. */
    List<Directory> directories();

    /** Names with automatic certificates, as of the last look. */
    default List<Automatic> automatic() {
        return List.of();
    }

    /** The time that states go by, seconds since 1970. */
    long nowSeconds();

    /**
     * Reads files as the proxy would and uses them for nothing.
     *
     * @param file a PEM file or a directory
     * @param key PEM file; null where it is the same file, or beside it
     */
    CompletionStage<Checked> check(Path file, @Nullable Path key);
}
