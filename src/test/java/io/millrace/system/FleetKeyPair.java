package io.millrace.system;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.Base64;

/**
 * A new Ed25519 key pair in files, as {@code millctl fleet config keygen} writes it. Immutable.
 *
 * @param privateKey file for {@code --key}
 * @param publicKey file for {@code fleet.config_public_key_file}
 */
record FleetKeyPair(Path privateKey, Path publicKey) {
    static FleetKeyPair in(Path directory) throws IOException {
        try {
            KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
            Path key = directory.resolve("fleet.key");
            Path publicKey = directory.resolve("fleet.key.pub");
            Files.write(key, pem("PRIVATE KEY", pair.getPrivate().getEncoded()));
            Files.write(publicKey, pem("PUBLIC KEY", pair.getPublic().getEncoded()));
            return new FleetKeyPair(key, publicKey);
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    private static byte[] pem(String name, byte[] der) {
        return ("-----BEGIN " + name + "-----\n" + Base64.getMimeEncoder().encodeToString(der) + "\n-----END " + name
                        + "-----\n")
                .getBytes(StandardCharsets.US_ASCII);
    }
}
