package io.millrace.proxy.acme;

import io.millrace.proxy.config.tls.AcmeConfig;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The paths in the ACME storage, which launcher and workers share. Immutable.
 *
 * <p>The launcher writes all files except {@link #requests}. A file is created by a rename, so a reader finds the
 * complete file or none.
 *
 * @param storage the directory
 */
public record AcmeFiles(Path storage) {
    /** Returns the paths of a configuration. Returns null if it does not use ACME or has no storage directory. */
    public static @Nullable AcmeFiles of(@Nullable AcmeConfig config) {
        Path storage = config == null ? null : config.storage();
        return storage == null ? null : new AcmeFiles(storage);
    }

    /** Directory of key authorizations for http-01; the file name is the token. */
    public Path tokens() {
        return storage.resolve("challenges").resolve("http-01");
    }

    /** Directory of certificates with keys for tls-alpn-01; the file name is the name to verify. */
    public Path alpnCertificates() {
        return storage.resolve("challenges").resolve("tls-alpn-01");
    }

    /**
     * Directory of the states of host names ({@link AcmeRecord}). The file of each name is {@link
     * AcmeRecord#fileName}.
     */
    public Path records() {
        return storage.resolve("records");
    }

    /**
     * Directory of certificate requests. They are empty files named by host, created by workers and deleted by the
     * launcher.
     */
    public Path requests() {
        return storage.resolve("requests");
    }

    /** Directory of issued certificates, each with its key: {@code NAME.pem}. */
    public Path certificates() {
        return storage.resolve("certificates");
    }

    /** Returns a host name as a file name: the asterisk of a wildcard becomes {@code _wildcard}. */
    public static String fileName(String name) {
        return name.startsWith("*.") ? "_wildcard" + name.substring(1) : name;
    }
}
