package io.millrace.proxy.tls.ocsp;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.X509Certificate;
import java.util.Arrays;

/**
 * An OCSP request about one certificate (RFC 6960 section 4.1). Immutable.
 *
 * <p>Uses SHA-1 hashes, which all responders support (RFC 5019 section 2.1.1). The hashes only identify the
 * certificate, so that the weakness of SHA-1 does not matter. Sends no nonce, because responders sign their answers
 * in advance.
 */
final class OcspRequest {
    private static final String SHA_1 = "1.3.14.3.2.26";

    /** The AlgorithmIdentifier of SHA-1, with NULL as its parameters. */
    private static final byte[] SHA_1_IDENTIFIER = {0x30, 9, 6, 5, 0x2b, 0x0e, 3, 2, 0x1a, 5, 0};

    private final byte[] nameHash;
    private final byte[] keyHash;
    private final byte[] serial;

    /** Creates a request about a certificate of an issuer. */
    OcspRequest(X509Certificate certificate, X509Certificate issuer) throws GeneralSecurityException {
        nameHash = MessageDigest.getInstance("SHA-1")
                .digest(issuer.getSubjectX500Principal().getEncoded());
        keyHash = keyHash(issuer);
        serial = certificate.getSerialNumber().toByteArray();
    }

    /**
     * Returns the SHA-1 hash of the bits of a certificate's public key. Tag, length and the number of unused bits are
     * not hashed.
     */
    static byte[] keyHash(X509Certificate certificate) throws GeneralSecurityException {
        try {
            DerReader key =
                    DerReader.of(certificate.getPublicKey().getEncoded()).enter(DerReader.SEQUENCE);
            key.enter(DerReader.SEQUENCE);
            byte[] bits = key.content(DerReader.BIT_STRING);
            return MessageDigest.getInstance("SHA-1").digest(Arrays.copyOfRange(bits, 1, bits.length));
        } catch (IllegalArgumentException e) {
            throw new GeneralSecurityException("the public key is not DER: " + e.getMessage(), e);
        }
    }

    /** Returns the encoded OCSPRequest. */
    byte[] encoded() {
        byte[] certId = DerWriter.element(
                DerReader.SEQUENCE,
                SHA_1_IDENTIFIER,
                DerWriter.element(DerReader.OCTET_STRING, nameHash),
                DerWriter.element(DerReader.OCTET_STRING, keyHash),
                DerWriter.element(DerReader.INTEGER, serial));
        byte[] request = DerWriter.element(DerReader.SEQUENCE, certId);
        byte[] list = DerWriter.element(DerReader.SEQUENCE, request);
        return DerWriter.element(DerReader.SEQUENCE, DerWriter.element(DerReader.SEQUENCE, list));
    }

    /**
     * Returns true if a CertID identifies the certificate of this request. Ignores the parameters of its hash
     * algorithm.
     */
    boolean isAbout(DerReader certId) {
        return certId.enter(DerReader.SEQUENCE).identifier().equals(SHA_1)
                && Arrays.equals(certId.content(DerReader.OCTET_STRING), nameHash)
                && Arrays.equals(certId.content(DerReader.OCTET_STRING), keyHash)
                && Arrays.equals(certId.content(DerReader.INTEGER), serial);
    }
}
