package io.millrace.proxy.tls.ocsp;

import io.millrace.proxy.tls.ocsp.OcspFault.Kind;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Parses and verifies an OCSP response (RFC 6960 sections 3.2 and 4.2). Confined to one thread. */
final class OcspResponseVerifier {
    private static final String BASIC = "1.3.6.1.5.5.7.48.1.1";
    private static final String OCSP_SIGNING = "1.3.6.1.5.5.7.3.9";
    private static final int BY_NAME = DerReader.explicit(1);
    private static final int BY_KEY = DerReader.explicit(2);
    /** Tags of the certificate status in a response. */
    private static final int GOOD = 0x80;

    private static final int REVOKED = 0xa1;
    private static final byte[] FALSE = {0};

    /** Tolerance for a responder whose clock is ahead. */
    private static final int SKEW_MILLIS = 300_000;

    /** Limit of certificates that are read from a response. */
    private static final int RESPONDERS_MAX = 8;

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("uuuuMMddHHmmss'Z'");

    /** Assumed validity of a response without nextUpdate: one day. The standard sets no limit for such a response. */
    private static final long ASSUMED_VALIDITY_MILLIS = 86_400_000;

    /** Names of the response statuses by code (RFC 6960 section 4.2.1). Code 4 is not used. */
    private static final List<String> STATUSES =
            List.of("successful", "malformedRequest", "internalError", "tryLater", "4", "sigRequired", "unauthorized");

    private final OcspRequest request;
    private final X509Certificate issuer;
    private final long nowMillis;

    private OcspResponseVerifier(OcspRequest request, X509Certificate issuer, long nowMillis) {
        this.request = request;
        this.issuer = issuer;
        this.nowMillis = nowMillis;
    }

    /**
     * Verifies the response to a request.
     *
     * @param issuer the issuer of the certificate in question
     * @throws OcspFault if the response must not be stapled
     */
    static Staple verified(byte[] answer, OcspRequest request, X509Certificate issuer, long nowMillis)
            throws OcspFault {
        try {
            return new OcspResponseVerifier(request, issuer, nowMillis).read(answer);
        } catch (IllegalArgumentException | DateTimeException e) {
            throw new OcspFault(Kind.MALFORMED, "the answer is not OCSP: " + e.getMessage());
        } catch (GeneralSecurityException e) {
            throw new OcspFault(Kind.UNTRUSTED, "the answer cannot be verified: " + e.getMessage());
        }
    }

    private Staple read(byte[] answer) throws OcspFault, GeneralSecurityException {
        DerReader whole = DerReader.of(answer);
        DerReader response = whole.enter(DerReader.SEQUENCE);
        if (whole.hasMore()) {
            throw new OcspFault(Kind.MALFORMED, "trailing bytes after the answer");
        }
        byte[] status = response.content(DerReader.ENUMERATED);
        if (status.length != 1 || status[0] != 0) {
            int code = status.length == 1 ? status[0] & 0xff : -1;
            throw new OcspFault(
                    Kind.REFUSED,
                    "the responder refuses: "
                            + (code >= 0 && code < STATUSES.size() ? STATUSES.get(code) : "status " + code));
        }
        DerReader bytes = response.enter(DerReader.explicit(0)).enter(DerReader.SEQUENCE);
        if (!bytes.identifier().equals(BASIC)) {
            throw new OcspFault(Kind.MALFORMED, "the answer is not a BasicOCSPResponse, the only supported type");
        }
        DerReader basic = bytes.enter(DerReader.OCTET_STRING).enter(DerReader.SEQUENCE);
        byte[] signed = basic.whole(DerReader.SEQUENCE);
        DerReader algorithm = basic.enter(DerReader.SEQUENCE);
        byte[] signature = basic.content(DerReader.BIT_STRING);
        List<X509Certificate> certificates = certificates(basic);
        DerReader data = DerReader.of(signed).enter(DerReader.SEQUENCE);
        data.skipIf(DerReader.explicit(0));
        X509Certificate signer = signer(data, certificates);
        if (signature.length == 0
                || !OcspSignature.verifies(
                        signer.getPublicKey(), algorithm, signed, Arrays.copyOfRange(signature, 1, signature.length))) {
            throw new OcspFault(Kind.UNTRUSTED, "the signature of the answer is wrong");
        }
        data.enter(DerReader.GENERALIZED_TIME);
        DerReader responses = data.enter(DerReader.SEQUENCE);
        refuseCritical(data);
        while (responses.hasMore()) {
            DerReader single = responses.enter(DerReader.SEQUENCE);
            if (request.isAbout(single.enter(DerReader.SEQUENCE))) {
                return good(single, answer);
            }
        }
        throw new OcspFault(Kind.MISMATCH, "the answer is not about this certificate");
    }

    private static List<X509Certificate> certificates(DerReader basic) throws GeneralSecurityException {
        List<X509Certificate> certificates = new ArrayList<>();
        if (basic.tag() == DerReader.explicit(0)) {
            DerReader list = basic.enter(DerReader.explicit(0)).enter(DerReader.SEQUENCE);
            CertificateFactory factory = CertificateFactory.getInstance("X.509");
            while (list.hasMore() && certificates.size() < RESPONDERS_MAX) {
                byte[] each = list.whole(DerReader.SEQUENCE);
                certificates.add((X509Certificate) factory.generateCertificate(new ByteArrayInputStream(each)));
            }
        }
        return certificates;
    }

    /**
     * Returns the signer's certificate. This is the issuer, or a responder that the issuer has authorized (RFC
     * 6960 section 4.2.2.2).
     */
    private X509Certificate signer(DerReader data, List<X509Certificate> certificates)
            throws OcspFault, GeneralSecurityException {
        byte[] name = null;
        byte[] key = null;
        if (data.tag() == BY_NAME) {
            name = data.enter(BY_NAME).whole(DerReader.SEQUENCE);
        } else {
            key = data.enter(BY_KEY).content(DerReader.OCTET_STRING);
        }
        if (isNamed(issuer, name, key)) {
            return issuer;
        }
        String reason = "the responder's certificate is not in the answer";
        for (X509Certificate each : certificates) {
            if (isNamed(each, name, key)) {
                String objection = objection(each);
                if (objection == null) {
                    return each;
                }
                reason = objection;
            }
        }
        throw new OcspFault(Kind.UNTRUSTED, reason);
    }

    private static boolean isNamed(X509Certificate certificate, byte @Nullable [] name, byte @Nullable [] key)
            throws GeneralSecurityException {
        return name != null
                ? Arrays.equals(certificate.getSubjectX500Principal().getEncoded(), name)
                : Arrays.equals(OcspRequest.keyHash(certificate), key);
    }

    /** Returns the reason why a certificate may not sign responses; null if it may. */
    private @Nullable String objection(X509Certificate responder) {
        try {
            List<String> purposes = responder.getExtendedKeyUsage();
            if (purposes == null || !purposes.contains(OCSP_SIGNING)) {
                return "the responder's certificate is not for OCSP signing";
            }
            responder.checkValidity(Date.from(Instant.ofEpochMilli(nowMillis)));
            responder.verify(issuer.getPublicKey());
            return responder.getIssuerX500Principal().equals(issuer.getSubjectX500Principal())
                    ? null
                    : "the responder's certificate was issued by another CA";
        } catch (GeneralSecurityException e) {
            return "the responder's certificate is not valid: " + e.getMessage();
        }
    }

    private Staple good(DerReader single, byte[] answer) throws OcspFault {
        int status = single.tag();
        if (status != GOOD) {
            throw status == REVOKED
                    ? new OcspFault(Kind.REVOKED, "the issuer has revoked the certificate")
                    : new OcspFault(Kind.UNKNOWN, "the responder does not know the certificate");
        }
        single.enter(GOOD);
        long thisUpdate = time(single);
        long nextUpdate = thisUpdate + ASSUMED_VALIDITY_MILLIS;
        if (single.tag() == DerReader.explicit(0)) {
            nextUpdate = time(single.enter(DerReader.explicit(0)));
        }
        refuseCritical(single);
        Staple staple = new Staple(answer, thisUpdate, nextUpdate);
        if (thisUpdate > nowMillis + SKEW_MILLIS) {
            throw new OcspFault(
                    Kind.OUTDATED, "thisUpdate of the answer is in the future; check the clock of this machine");
        }
        if (nextUpdate <= thisUpdate || !staple.isUsable(nowMillis)) {
            throw new OcspFault(Kind.OUTDATED, "the answer is out of date");
        }
        return staple;
    }

    private static long time(DerReader reader) {
        String text = new String(reader.content(DerReader.GENERALIZED_TIME), StandardCharsets.US_ASCII);
        return LocalDateTime.parse(text, TIME).toInstant(ZoneOffset.UTC).toEpochMilli();
    }

    /** Refuses critical extensions, because this client supports none. */
    private static void refuseCritical(DerReader holder) {
        if (holder.tag() != DerReader.explicit(1)) {
            return;
        }
        DerReader extensions = holder.enter(DerReader.explicit(1)).enter(DerReader.SEQUENCE);
        while (extensions.hasMore()) {
            DerReader extension = extensions.enter(DerReader.SEQUENCE);
            String identifier = extension.identifier();
            if (extension.tag() == DerReader.BOOLEAN && !Arrays.equals(extension.content(DerReader.BOOLEAN), FALSE)) {
                throw new IllegalArgumentException("unsupported critical extension " + identifier);
            }
        }
    }
}
