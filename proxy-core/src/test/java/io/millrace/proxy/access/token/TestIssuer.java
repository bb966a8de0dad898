package io.millrace.proxy.access.token;

import java.util.function.Consumer;
import org.jose4j.jwk.EcJwkGenerator;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.OkpJwkGenerator;
import org.jose4j.jwk.PublicJsonWebKey;
import org.jose4j.jwk.RsaJwkGenerator;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.jwt.JwtClaims;
import org.jose4j.jwt.NumericDate;
import org.jose4j.keys.EllipticCurves;
import org.jose4j.lang.JoseException;
import org.jspecify.annotations.Nullable;

/** An issuer of tokens with one key of each kind. Tokens are valid from 2001 to 2286 unless a test changes them. */
public final class TestIssuer {
    private static final long LATE_SECONDS = 9_999_999_999L;
    private static final int RSA_BITS = 2048;

    /** All issuers share this key, because its generation takes seconds. */
    private static final PublicJsonWebKey RSA = rsa();

    private final PublicJsonWebKey ec;
    private final PublicJsonWebKey ed;

    /** Generates the keys. */
    public TestIssuer() throws JoseException {
        ec = named(EcJwkGenerator.generateJwk(EllipticCurves.P256), "ec");
        ed = named(OkpJwkGenerator.generateJwk("Ed25519"), "ed");
    }

    private static PublicJsonWebKey rsa() {
        try {
            return named(RsaJwkGenerator.generateJwk(RSA_BITS), "rsa");
        } catch (JoseException e) {
            throw new IllegalStateException(e);
        }
    }

    private static PublicJsonWebKey named(PublicJsonWebKey key, String id) {
        key.setKeyId(id);
        return key;
    }

    /** The public keys as a JSON Web Key Set. */
    public String keySet() {
        return new JsonWebKeySet(RSA, ec, ed).toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY);
    }

    /** The public keys of this and another issuer, in this order, as one set of keys without names. */
    String keySetWith(TestIssuer other) throws JoseException {
        JsonWebKeySet all = new JsonWebKeySet(keySet());
        all.getJsonWebKeys().addAll(new JsonWebKeySet(other.keySet()).getJsonWebKeys());
        all.getJsonWebKeys().forEach(key -> key.setKeyId(null));
        return all.toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY);
    }

    /** Returns a token that does not name its key. */
    String tokenWithoutKeyId() throws JoseException {
        return token("ES256", claims -> {}, null);
    }

    /** The keys with their private parts. */
    String privateKeySet() {
        return new JsonWebKeySet(RSA).toJson(JsonWebKey.OutputControlLevel.INCLUDE_PRIVATE);
    }

    /** Returns a token with these claims. */
    public String token(Consumer<JwtClaims> claims) throws JoseException {
        return token("ES256", claims);
    }

    /** Returns a token that is signed by an algorithm. */
    String token(String algorithm, Consumer<JwtClaims> claims) throws JoseException {
        return token(algorithm, claims, key(algorithm).getKeyId());
    }

    private PublicJsonWebKey key(String algorithm) {
        return algorithm.equals("EdDSA") ? ed : algorithm.startsWith("ES") ? ec : RSA;
    }

    private String token(String algorithm, Consumer<JwtClaims> claims, @Nullable String keyId) throws JoseException {
        PublicJsonWebKey key = key(algorithm);
        JwtClaims all = new JwtClaims();
        all.setIssuer("https://issuer.example");
        all.setAudience("shop");
        all.setExpirationTime(NumericDate.fromSeconds(LATE_SECONDS));
        claims.accept(all);
        JsonWebSignature signed = new JsonWebSignature();
        signed.setPayload(all.toJson());
        signed.setKey(key.getPrivateKey());
        if (keyId != null) {
            signed.setKeyIdHeaderValue(keyId);
        }
        signed.setAlgorithmHeaderValue(algorithm);
        return signed.getCompactSerialization();
    }
}
