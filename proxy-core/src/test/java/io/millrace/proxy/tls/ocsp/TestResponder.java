package io.millrace.proxy.tls.ocsp;

import static io.millrace.proxy.tls.TestAuthority.der;

import io.millrace.proxy.tls.TestAuthority;
import io.millrace.proxy.tls.TestAuthority.Made;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.MessageDigest;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;

/** Writes valid and invalid OCSP answers. Confined to one thread. */
final class TestResponder {
    private static final byte[] SHA_1 = {0x30, 9, 6, 5, 0x2b, 0x0e, 3, 2, 0x1a, 5, 0};
    private static final byte[] BASIC = {6, 9, 0x2b, 6, 1, 5, 5, 7, 48, 1, 1};
    private static final byte[] ECDSA_SHA256 = {6, 8, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 4, 3, 2};
    private static final byte[] ECDSA_SHA1 = {6, 7, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 4, 1};
    private static final byte[] CRITICAL_EXTENSION = der(0x30, new byte[] {6, 1, 0x2a, 1, 1, -1, 4, 0});
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

    final TestAuthority authority;
    X509Certificate about;
    X509Certificate signer;
    KeyPair keys;
    byte[][] certificates = {};
    byte[] status = {(byte) 0x80, 0};
    Instant thisUpdate;
    Instant nextUpdate;
    boolean byKey;
    boolean weak;
    boolean critical;

    TestResponder(TestAuthority authority, X509Certificate about, Instant now) {
        this.authority = authority;
        this.about = about;
        signer = authority.issuing().certificate();
        keys = authority.issuing().keys();
        thisUpdate = now.minusSeconds(3600);
        nextUpdate = now.plusSeconds(4 * 86_400);
    }

    TestResponder signedBy(Made responder) {
        signer = responder.certificate();
        keys = responder.keys();
        certificates = new byte[][] {encoded(signer)};
        return this;
    }

    static byte[] refusal(int status) {
        return der(0x30, der(10, new byte[] {(byte) status}));
    }

    byte[] answer() {
        byte[] time = der(24, text(thisUpdate));
        byte[] end = nextUpdate == null ? new byte[0] : der(0xa0, der(24, text(nextUpdate)));
        byte[] extensions = critical ? der(0xa1, der(0x30, CRITICAL_EXTENSION)) : new byte[0];
        byte[] single = der(0x30, certId(), status, time, end, extensions);
        byte[] responder = byKey
                ? der(0xa2, der(4, keyHash(signer)))
                : der(0xa1, signer.getSubjectX500Principal().getEncoded());
        byte[] data = der(0x30, responder, time, der(0x30, single));
        byte[] algorithm = weak ? ECDSA_SHA1 : ECDSA_SHA256;
        byte[] chain = certificates.length == 0 ? new byte[0] : der(0xa0, der(0x30, certificates));
        byte[] basic = der(0x30, data, der(0x30, algorithm), der(3, new byte[1], signed(data)), chain);
        return der(0x30, der(10, new byte[1]), der(0xa0, der(0x30, BASIC, der(4, basic))));
    }

    private byte[] certId() {
        X509Certificate issuer = authority.issuing().certificate();
        return der(
                0x30,
                SHA_1,
                der(4, sha1(issuer.getSubjectX500Principal().getEncoded())),
                der(4, keyHash(issuer)),
                der(2, about.getSerialNumber().toByteArray()));
    }

    private byte[] signed(byte[] data) {
        try {
            Signature signature = Signature.getInstance(weak ? "SHA1withECDSA" : "SHA256withECDSA");
            signature.initSign(keys.getPrivate());
            signature.update(data);
            return signature.sign();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] keyHash(X509Certificate certificate) {
        // A P-256 key ends with its point of 65 bytes.
        byte[] key = certificate.getPublicKey().getEncoded();
        return sha1(Arrays.copyOfRange(key, key.length - 65, key.length));
    }

    private static byte[] sha1(byte[] content) {
        try {
            return MessageDigest.getInstance("SHA-1").digest(content);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] encoded(X509Certificate certificate) {
        try {
            return certificate.getEncoded();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] text(Instant time) {
        return TIME.format(time).getBytes(StandardCharsets.US_ASCII);
    }
}
