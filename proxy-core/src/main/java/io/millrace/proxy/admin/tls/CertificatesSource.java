package io.millrace.proxy.admin.tls;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Source of the state of TLS certificates for the admin API. Thread-safe; never blocks. */
public interface CertificatesSource {
    /**
     * One certificate. Times are seconds since 1970, 0 for none.
     *
     * @param file path of the certificate chain
     * @param key path of the private key; equal to {@code file} if one file holds both
     * @param names server names that the certificate is used for
     * @param state valid, expiring (soon), expired, faulty (the present files cannot be used, so handshakes use the
     *     version that was read before) or unusable (no version could be read)
     * @param issuer name of the issuer; null if no version of the file could be read. The components from here to
     *     {@code notes} are then empty
     * @param chain subjects in the order in which they are sent
     * @param notes warnings that do not prevent the use of the certificate
     * @param settings TLS settings that the configuration sets for these names, each as written there
     * @param inForce every TLS setting in force for these names, including defaults, with its source; empty if the
     *     certificate is not used
     * @param loaded time when the version in use was read
     * @param problem file and reason; null for none
     * @param staple the OCSP staple sent in handshakes
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
            List<Setting> inForce,
            long loaded,
            @Nullable String problem,
            long problemSince,
            Staple staple) {
        public Certificate {
            names = List.copyOf(names);
            chain = List.copyOf(chain);
            notes = List.copyOf(notes);
            settings = List.copyOf(settings);
            inForce = List.copyOf(inForce);
        }
    }

    /**
     * A setting in force.
     *
     * @param source section of the configuration, or {@code default}
     * @param address listen address that it applies to; null for all
     */
    record Setting(
            String name,
            String value,
            String source,
            @Nullable String address) {}

    /**
     * OCSP staple of a certificate. Times are seconds since 1970, 0 for none.
     *
     * @param state none (the certificate names no responder), off (the settings turn stapling off), unused (no staple
     *     is requested, for example because no name uses the certificate), missing (handshakes carry none) or stapled
     * @param responder URL; null for none
     * @param required whether clients refuse the certificate without a staple
     * @param until end of the validity of the staple
     * @param problem reason why the last OCSP request failed; null if it succeeded
     */
    record Staple(
            String state,
            @Nullable String responder,
            boolean required,
            long until,
            @Nullable String problem,
            long problemSince) {
        /** Staple of a certificate file that could not be read. */
        public static final Staple NONE = new Staple("none", null, false, 0, null, 0);
    }

    /**
     * One name with automatic certificates. Times are seconds since 1970, 0 for none.
     *
     * @param state valid, pending, failing or expired
     * @param issuer URL of the issuer of the certificate; empty before the first one
     * @param renewal time at which the next certificate is ordered
     * @param retry earliest time of the next order after a failure; 0 for none
     * @param failures orders that failed in a row
     * @param problem problem of the last order; null if it succeeded
     */
    record AutomaticCertificate(
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

    /** Result of {@link #check}. */
    record CheckResult(List<Certificate> certificates, List<Directory> directories) {
        public CheckResult {
            certificates = List.copyOf(certificates);
            directories = List.copyOf(directories);
        }
    }

    /** Every certificate in the order of the configuration, as of the last check of the files. */
    List<Certificate> certificates();

    /** Directories of the configuration that cannot be read. */
    List<Directory> directories();

    /** Names with automatic certificates (ACME), as of the last check of the files. */
    default List<AutomaticCertificate> automatic() {
        return List.of();
    }

    /** The time of the clock that decides whether certificates are expired, in epoch seconds. */
    long nowSeconds();

    /**
     * Reads and checks certificate files as the proxy would, without using them.
     *
     * @param file a PEM file or a directory
     * @param key PEM file with the key; null if the key is in the same file or in a file beside it
     */
    CompletionStage<CheckResult> check(Path file, @Nullable Path key);
}
