package io.millrace.proxy.access.token;

import static org.jose4j.jws.AlgorithmIdentifiers.ECDSA_USING_P256_CURVE_AND_SHA256;
import static org.jose4j.jws.AlgorithmIdentifiers.ECDSA_USING_P384_CURVE_AND_SHA384;
import static org.jose4j.jws.AlgorithmIdentifiers.ECDSA_USING_P521_CURVE_AND_SHA512;
import static org.jose4j.jws.AlgorithmIdentifiers.EDDSA;
import static org.jose4j.jws.AlgorithmIdentifiers.RSA_PSS_USING_SHA256;
import static org.jose4j.jws.AlgorithmIdentifiers.RSA_PSS_USING_SHA384;
import static org.jose4j.jws.AlgorithmIdentifiers.RSA_PSS_USING_SHA512;
import static org.jose4j.jws.AlgorithmIdentifiers.RSA_USING_SHA256;
import static org.jose4j.jws.AlgorithmIdentifiers.RSA_USING_SHA384;
import static org.jose4j.jws.AlgorithmIdentifiers.RSA_USING_SHA512;

import io.millrace.proxy.config.guard.TokenConfig;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.MalformedClaimException;
import org.jose4j.jwt.NumericDate;
import org.jose4j.jwt.consumer.ErrorCodes;
import org.jose4j.jwt.consumer.InvalidJwtException;
import org.jose4j.jwt.consumer.JwtConsumerBuilder;
import org.jose4j.lang.InvalidAlgorithmException;
import org.jose4j.lang.UnresolvableKeyException;
import org.jspecify.annotations.Nullable;

/** Checks the signature and the claims of one token. May block while the keys of the issuer are fetched. */
final class TokenCheck {
    private static final long MILLIS = 1000;

    /**
     * Signatures with a shared secret (HS256) are excluded: otherwise anyone could sign with the public key as the
     * secret.
     */
    private static final AlgorithmConstraints ALGORITHMS = new AlgorithmConstraints(
            AlgorithmConstraints.ConstraintType.PERMIT,
            RSA_USING_SHA256,
            RSA_USING_SHA384,
            RSA_USING_SHA512,
            RSA_PSS_USING_SHA256,
            RSA_PSS_USING_SHA384,
            RSA_PSS_USING_SHA512,
            ECDSA_USING_P256_CURVE_AND_SHA256,
            ECDSA_USING_P384_CURVE_AND_SHA384,
            ECDSA_USING_P521_CURVE_AND_SHA512,
            EDDSA);

    /** The claim with several values in one text, separated by spaces (RFC 8693 section 4.2). */
    private static final String SCOPE = "scope";

    /** A fault of a token: the code that the library gives it, and the result. */
    private record Fault(int code, TokenResult result) {}

    /** The known faults. The first one that a token has decides the result. */
    private static final List<Fault> FAULTS = List.of(
            new Fault(ErrorCodes.SIGNATURE_INVALID, TokenResult.SIGNATURE),
            new Fault(ErrorCodes.EXPIRED, TokenResult.EXPIRED),
            new Fault(ErrorCodes.EXPIRATION_MISSING, TokenResult.EXPIRED),
            new Fault(ErrorCodes.NOT_YET_VALID, TokenResult.NOT_YET_VALID),
            new Fault(ErrorCodes.ISSUER_MISSING, TokenResult.ISSUER),
            new Fault(ErrorCodes.ISSUER_INVALID, TokenResult.ISSUER),
            new Fault(ErrorCodes.AUDIENCE_MISSING, TokenResult.AUDIENCE),
            new Fault(ErrorCodes.AUDIENCE_INVALID, TokenResult.AUDIENCE));

    /**
     * The result of a check.
     *
     * @param expiresAtMillis end of the validity of a valid token, with the tolerance; otherwise 0
     */
    record Verdict(TokenResult result, long expiresAtMillis) {}

    private TokenCheck() {}

    static Verdict check(String token, TokenConfig requirements, IssuerKeys keys, long nowMillis) {
        try {
            JwtConsumerBuilder builder = new JwtConsumerBuilder()
                    .setJwsAlgorithmConstraints(ALGORITHMS)
                    .setVerificationKeyResolver(keys.resolver(requirements))
                    .setEvaluationTime(NumericDate.fromMilliseconds(nowMillis))
                    .setAllowedClockSkewInSeconds(requirements.skewSeconds())
                    .setRequireExpirationTime();
            if (requirements.issuer() != null) {
                builder.setExpectedIssuer(requirements.issuer());
            }
            if (requirements.audience().isEmpty()) {
                builder.setSkipDefaultAudienceValidation();
            } else {
                builder.setExpectedAudience(requirements.audience().toArray(new String[0]));
            }
            JwtClaims claims = builder.build().processToClaims(token);
            if (!requirements.claims().stream().allMatch(claim -> holds(claims, claim))) {
                return new Verdict(TokenResult.CLAIM, 0);
            }
            long expiry = claims.getExpirationTime().getValue() + requirements.skewSeconds();
            return new Verdict(TokenResult.VALID, expiry * MILLIS);
        } catch (InvalidJwtException e) {
            return new Verdict(result(e), 0);
        } catch (MalformedClaimException e) {
            return new Verdict(TokenResult.MALFORMED, 0);
        }
    }

    private static boolean holds(JwtClaims claims, TokenConfig.Claim required) {
        Object value = claims.getClaimValue(required.name());
        if (value instanceof List<?> values) {
            return values.stream().anyMatch(one -> required.value().equals(String.valueOf(one)));
        }
        if (required.name().equals(SCOPE) && value instanceof String words) {
            return Arrays.asList(words.split(" ", -1)).contains(required.value());
        }
        return value != null && required.value().equals(String.valueOf(value));
    }

    private static TokenResult result(InvalidJwtException fault) {
        if (isCausedBy(fault, IOException.class)) {
            return TokenResult.KEYS_UNAVAILABLE;
        }
        if (isCausedBy(fault, UnresolvableKeyException.class)) {
            return TokenResult.UNKNOWN_KEY;
        }
        if (isCausedBy(fault, InvalidAlgorithmException.class)) {
            return TokenResult.ALGORITHM;
        }
        for (Fault known : FAULTS) {
            if (fault.hasErrorCode(known.code)) {
                return known.result;
            }
        }
        return TokenResult.MALFORMED;
    }

    private static boolean isCausedBy(Throwable fault, Class<? extends Throwable> type) {
        for (@Nullable Throwable cause = fault; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return true;
            }
        }
        return false;
    }
}
