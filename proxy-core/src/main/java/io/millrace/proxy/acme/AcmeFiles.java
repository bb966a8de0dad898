package io.millrace.proxy.acme;

import io.millrace.proxy.config.tls.AcmeConfig;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Paths in the storage that launcher and workers share. Immutable.
 *
 * <p>The launcher writes everything but {@link #requests}. Files are put in place by a rename, so that a reader sees a
 * whole file or none.
 *
 * @param storage the directory
 */
public record AcmeFiles(Path storage) {
    /** Null without automatic certificates, and where no directory is known. */
    public static @Nullable AcmeFiles of(@Nullable AcmeConfig config) {
        Path storage = config == null ? null : config.storage();
        return storage == null ? null : new AcmeFiles(storage);
    }

    /** Key authorizations for http-01; the file's name is the token. */
    public Path tokens() {
        return storage.resolve("challenges").resolve("http-01");
    }

    /** Certificates with keys for tls-alpn-01; the file's name is the name to verify. */
    public Path alpnCertificates() {
        return storage.resolve("challenges").resolve("tls-alpn-01");
    }

    /** Records of the names; the file's name is {@link #fileName}. */
    public Path records() {
        return storage.resolve("records");
    }

    /** Names that handshakes wait for; empty files, written by workers and deleted by the launcher. */
    public Path requests() {
        return storage.resolve("requests");
    }

    /** Issued certificates, each with its key: {@code NAME.pem}. */
    public Path certificates() {
        return storage.resolve("certificates");
    }

    /** A name as part of a file's name. */
    public static String fileName(String name) {
        return name.startsWith("*.") ? "_wildcard" + name.substring(1) : name;
    }
}
