package io.millrace.proxy.access.token;

import io.millrace.proxy.access.CredentialCheck;
import java.util.Locale;

/** The result of the verification of a JSON Web Token. */
public enum TokenResult implements CredentialCheck.Result {
    /** The token is valid now. */
    VALID("the token is valid"),
    /** The text is not a signed token (RFC 7515). */
    MALFORMED("the token is not a signed JSON Web Token"),
    /** The algorithm is not one of RS, PS, ES and EdDSA. */
    ALGORITHM("the algorithm of the token is not permitted"),
    /** The key set has no key for the token. */
    UNKNOWN_KEY("no key of the issuer fits the token"),
    /** The signature was not made with the key. */
    SIGNATURE("the signature of the token is wrong"),
    /** The time in exp has passed, or the token has no exp. */
    EXPIRED("the token has expired or has no exp"),
    /** The time in nbf is in the future. */
    NOT_YET_VALID("the token is not valid yet"),
    /** The issuer is not the configured one. */
    ISSUER("the token is from another issuer"),
    /** The audience is not the configured one. */
    AUDIENCE("the token is for another audience"),
    /** A required claim is missing or has another value. */
    CLAIM("the token does not have a required claim"),
    /** The keys of the issuer could not be fetched. */
    KEYS_UNAVAILABLE("the keys of the issuer cannot be fetched"),
    /** Too many requests wait for a verification. */
    OVERLOADED("too many tokens wait for verification");

    private final String text;
    private final String detail;

    TokenResult(String text) {
        this.text = text;
        this.detail = "jwt:" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** A sentence for the body of the answer. */
    public String text() {
        return text;
    }

    /** The detail for the access log and Cache-Status. */
    public String detail() {
        return detail;
    }

    /** Returns true if the token could not be verified for a reason that is not the client's fault. */
    public boolean isUnavailable() {
        return this == KEYS_UNAVAILABLE || this == OVERLOADED;
    }
}
