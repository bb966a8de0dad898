package io.millrace.system;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/**
 * A P-256 certificate and its key in PEM files, self-signed and valid for 30 days. Tests that need one are skipped
 * without {@code openssl}.
 *
 * @param certificate PEM file
 * @param key PEM file (PKCS #8), not encrypted
 */
public record SelfSignedCertificate(Path certificate, Path key) {
    /**
     * Writes {@code cert.pem} and {@code key.pem}.
     *
     * @param name DNS name: the common name and the only subject alternative name
     */
    public static SelfSignedCertificate write(Path directory, String name) throws IOException {
        Assumptions.assumeTrue(Command.isInstalled("openssl"), "SKIPPED: openssl is not installed");
        Path certificate = directory.resolve("cert.pem");
        Path key = directory.resolve("key.pem");
        Command.run(
                        directory,
                        List.of(
                                "openssl",
                                "req",
                                "-x509",
                                "-newkey",
                                "ec",
                                "-pkeyopt",
                                "ec_paramgen_curve:P-256",
                                "-nodes",
                                "-keyout",
                                key.toString(),
                                "-out",
                                certificate.toString(),
                                "-days",
                                "30",
                                "-subj",
                                "/CN=" + name,
                                "-addext",
                                "subjectAltName=DNS:" + name))
                .succeeds();
        return new SelfSignedCertificate(certificate, key);
    }
}
