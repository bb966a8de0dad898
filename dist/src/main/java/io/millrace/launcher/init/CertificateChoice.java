package io.millrace.launcher.init;

import io.millrace.proxy.config.value.InvalidValueException;
import io.millrace.proxy.tls.CertificateFault;
import io.millrace.proxy.tls.CertificateFiles;
import io.millrace.proxy.tls.CertificateReader;
import io.millrace.proxy.tls.ServerCertificate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The choice of certificates for a new configuration: automatic certificates, or files. Immutable.
 *
 * @param file PEM file with the chain, or a directory of certificates; null for automatic certificates
 * @param key PEM file with the private key; null if {@code file} contains it, or is a directory
 */
record CertificateChoice(@Nullable Path file, @Nullable Path key) {
    static final CertificateChoice AUTOMATIC = new CertificateChoice(null, null);

    /** Limit of the length of a file that is searched for a private key. */
    private static final int FILE_BYTES_MAX = 1 << 20;

    boolean isAutomatic() {
        return file == null;
    }

    boolean isDirectory() {
        return file != null && Files.isDirectory(file);
    }

    /**
     * Finds the private key for a certificate file. A directory, or a file that contains its key, needs no key file.
     * Otherwise the key is {@code privkey.pem} or {@code NAME.key} in the same directory.
     *
     * @return certificate and key; null if there is no key
     */
    static @Nullable CertificateChoice withKey(Path file) {
        if (Files.isDirectory(file) || containsKey(file)) {
            return new CertificateChoice(file, null);
        }
        String name = String.valueOf(file.getFileName());
        int dot = name.lastIndexOf('.');
        for (String key : List.of("privkey.pem", (dot < 0 ? name : name.substring(0, dot)) + ".key")) {
            Path keyFile = file.resolveSibling(key);
            if (Files.isRegularFile(keyFile) && !keyFile.equals(file)) {
                return new CertificateChoice(file, keyFile);
            }
        }
        return null;
    }

    private static boolean containsKey(Path file) {
        try {
            return Files.size(file) <= FILE_BYTES_MAX && Files.readString(file).contains("PRIVATE KEY-----");
        } catch (IOException e) {
            // The later check of the certificate reports the failure.
            return false;
        }
    }

    /**
     * Reads the files.
     *
     * @return remarks for the operator, such as a site whose name is not in the certificate
     * @throws InvalidValueException if the files cannot be used
     */
    List<String> check(List<Site> sites, long nowMillis) throws InvalidValueException {
        Path chain = file;
        if (chain == null) {
            return List.of();
        }
        if (Files.isDirectory(chain)) {
            return Files.isReadable(chain) ? List.of() : refuse(chain, "permission denied");
        }
        List<String> notes = new ArrayList<>();
        try {
            ServerCertificate.Facts facts = new CertificateReader()
                    .read(new CertificateFiles(chain, key == null ? chain : key), nowMillis)
                    .facts();
            long nowSeconds = Math.floorDiv(nowMillis, 1000L);
            if (facts.issuedSeconds() > nowSeconds) {
                notes.add(chain + ": is not valid before " + Instant.ofEpochSecond(facts.issuedSeconds())
                        + "; the clock of this machine shows " + Instant.ofEpochSecond(nowSeconds));
            }
            if (facts.expirySeconds() <= nowSeconds) {
                return refuse(chain, "has expired on " + Instant.ofEpochSecond(facts.expirySeconds()) + "; renew it");
            }
            for (Site site : sites) {
                if (facts.names().stream().noneMatch(name -> covers(name, site.name()))) {
                    notes.add(chain + ": is not for " + site.name() + ", but for " + String.join(", ", facts.names()));
                }
            }
        } catch (CertificateFault e) {
            return refuse(Path.of(e.file()), String.valueOf(e.getMessage()));
        }
        return notes;
    }

    /** Always throws. It has a result so that callers can write {@code return refuse(...)}. */
    private static List<String> refuse(Path file, String reason) throws InvalidValueException {
        throw new InvalidValueException(file + ": " + reason);
    }

    /** Returns true if a name of a certificate covers a host (RFC 9525 section 6.3). */
    static boolean covers(String name, String host) {
        if (name.startsWith("*.")) {
            int dot = host.indexOf('.');
            return dot > 0 && host.substring(dot).equals(name.substring(1));
        }
        return name.equals(host);
    }
}
