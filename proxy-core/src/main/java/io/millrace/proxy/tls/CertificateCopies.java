package io.millrace.proxy.tls;

import io.millrace.proxy.acme.AcmeFiles;
import io.millrace.proxy.acme.AcmeRecord;
import io.millrace.proxy.config.tls.AcmeConfig;
import io.millrace.proxy.tls.file.PrivateFile;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Local copies of automatic certificates whose storage is on another file system. A worker (proxy process) that starts
 * while the storage is missing uses the copies.
 *
 * <p>A copy is used if the storage cannot be read, or if the storage has no record of a certificate for the name.
 * An unmounted file system appears as an empty directory, without records. When a certificate is deleted from the
 * storage, its copy is deleted too. Methods block on files. Guarded by the lock of {@link CertificateStore}.
 *
 * @param storage directory of the original certificates
 * @param records directory with the state of the names, in the storage
 * @param directory directory of the copies
 */
record CertificateCopies(Path storage, Path records, Path directory) {
    private static final Logger log = LoggerFactory.getLogger(CertificateCopies.class);
    private static final String SUFFIX = ".pem";

    /**
     * Returns the copies; null if copies are not needed. They are not needed without automatic certificates. Nor
     * are they needed if the storage is below the parent of the state directory, because both would then be lost
     * together.
     */
    static @Nullable CertificateCopies of(@Nullable AcmeConfig acme, @Nullable Path state) {
        AcmeFiles files = AcmeFiles.of(acme);
        if (files == null || state == null) {
            return null;
        }
        Path parent = state.toAbsolutePath().normalize().getParent();
        return parent != null && files.storage().toAbsolutePath().normalize().startsWith(parent)
                ? null
                : new CertificateCopies(
                        files.certificates(),
                        files.records(),
                        state.toAbsolutePath().resolve("certificates"));
    }

    /** Returns true if a certificate was read from a copy. */
    boolean isCopy(CertificateFiles files) {
        return files.certificate().startsWith(directory);
    }

    /** Returns the original file of a copy. */
    Path original(CertificateFiles copy) {
        return storage.resolve(String.valueOf(copy.certificate().getFileName()));
    }

    /**
     * Returns the copies to use in addition to the certificates of the storage. Deletes obsolete copies.
     *
     * @param present certificates of the storage; the last known certificates if the storage cannot be read
     * @param readable whether the storage could be read just now
     */
    List<CertificateFiles> missingFrom(Collection<CertificateFiles> present, boolean readable, long nowMillis) {
        Set<String> names = new HashSet<>();
        present.forEach(each -> names.add(String.valueOf(each.certificate().getFileName())));
        List<CertificateFiles> missing = new ArrayList<>();
        for (String name : all()) {
            Path copy = directory.resolve(name);
            if (names.contains(name)) {
                continue;
            }
            if (readable && isObsolete(name, copy, nowMillis)) {
                delete(copy);
            } else {
                missing.add(new CertificateFiles(copy, copy));
            }
        }
        return missing;
    }

    private Set<String> all() {
        Set<String> names = new TreeSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "*" + SUFFIX)) {
            for (Path each : files) {
                String name = String.valueOf(each.getFileName());
                if (!name.startsWith(".")) {
                    names.add(name);
                }
            }
        } catch (NoSuchFileException e) {
            return names;
        } catch (IOException e) {
            log.warn("TLS: copies of certificates cannot be read: {}", e.toString());
        }
        return names;
    }

    /**
     * Returns true if a copy is obsolete, because its certificate has expired or was deleted from the storage. It was
     * deleted if the storage still has the record of an issued certificate for the name. Without this record, the
     * storage may not be mounted.
     */
    private boolean isObsolete(String fileName, Path copy, long nowMillis) {
        String name = fileName.substring(0, fileName.length() - SUFFIX.length());
        try {
            String record = Files.readString(records.resolve(AcmeRecord.fileName(name)));
            if (AcmeRecord.parse(record).expirySeconds() > 0) {
                return true;
            }
        } catch (IOException | IllegalArgumentException e) {
            log.debug("TLS: the record of {} cannot be read", name, e);
        }
        try {
            return CertificateReader.authorities(copy)
                            .get(0)
                            .getNotAfter()
                            .toInstant()
                            .toEpochMilli()
                    <= nowMillis;
        } catch (CertificateFault e) {
            return true;
        }
    }

    private static void delete(Path copy) {
        try {
            Files.deleteIfExists(copy);
        } catch (IOException e) {
            log.warn("TLS: a copy of a certificate cannot be deleted: {}", e.toString());
        }
    }

    /** Writes a copy of a certificate of the storage, unless an equal copy exists. */
    void keep(ServerCertificate certificate) {
        Path file = certificate.files().certificate();
        if (!file.startsWith(storage)) {
            return;
        }
        Path copy = directory.resolve(String.valueOf(file.getFileName()));
        try {
            byte[] content = certificate.pem();
            if (!Files.exists(copy) || !Arrays.equals(Files.readAllBytes(copy), content)) {
                PrivateFile.replace(copy, content);
            }
        } catch (IOException e) {
            log.warn("TLS: {} cannot be copied to {}: {}", file, copy, e.toString());
        }
    }
}
