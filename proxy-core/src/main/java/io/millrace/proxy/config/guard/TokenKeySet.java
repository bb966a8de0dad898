package io.millrace.proxy.config.guard;

import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.value.InvalidValueException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.PublicJsonWebKey;
import org.jose4j.lang.JoseException;

/** The public keys of an issuer of tokens, from a file with a JSON Web Key Set (RFC 7517). Immutable. */
public final class TokenKeySet {
    private static final int KEYS_MAX = 100;

    private final List<JsonWebKey> keys;

    private TokenKeySet(List<JsonWebKey> keys) {
        this.keys = List.copyOf(keys);
    }

    /**
     * Parses a file.
     *
     * @throws InvalidValueException if it is no key set, or a key is not a public key; the message has the file
     */
    static TokenKeySet parse(LoadedFile file) throws InvalidValueException {
        List<JsonWebKey> keys;
        try {
            keys = new JsonWebKeySet(new String(file.content(), StandardCharsets.UTF_8)).getJsonWebKeys();
        } catch (JoseException e) {
            throw new InvalidValueException(
                    file.path() + ": is not a JSON Web Key Set, such as {\"keys\": [...]}: " + e.getMessage());
        }
        if (keys.isEmpty() || keys.size() > KEYS_MAX) {
            throw new InvalidValueException(
                    file.path() + ": has " + keys.size() + " keys of known types, expected 1 to " + KEYS_MAX);
        }
        for (int i = 0; i < keys.size(); i++) {
            String place = file.path() + ": keys[" + i + "]: ";
            if (!(keys.get(i) instanceof PublicJsonWebKey key)) {
                throw new InvalidValueException(place + "is a secret key (kty=oct); only public keys are supported");
            }
            if (key.getPrivateKey() != null) {
                throw new InvalidValueException(
                        place + "has a private key, which only the issuer should have; write the public part only");
            }
        }
        return new TokenKeySet(keys);
    }

    /** The keys. */
    public List<JsonWebKey> keys() {
        return keys;
    }
}
