package io.millrace.launcher.fleet.config;

import io.millrace.launcher.fleet.config.RefusedRevisionException.Reason;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PublicKey;
import java.security.Signature;
import java.util.Base64;

/**
 * A statement with its signature (Ed25519, RFC 8032, over the UTF-8 text). Immutable.
 *
 * @param statement the parsed text
 * @param signature Base64
 */
public record SignedRevision(RevisionStatement statement, String signature) {
    /** Reads a statement. Does not verify the signature. */
    public static SignedRevision parse(String text, String signature) throws RefusedRevisionException {
        return new SignedRevision(RevisionStatement.parse(text), signature);
    }

    /** Verifies the signature, and that the revision is of this fleet. */
    public void verify(PublicKey key, String fleet) throws RefusedRevisionException {
        if (signature.isEmpty()) {
            throw new RefusedRevisionException(Reason.SIGNATURE, "revision " + revision() + " is not signed");
        }
        boolean verified;
        try {
            Signature verifier = Signature.getInstance("Ed25519");
            verifier.initVerify(key);
            verifier.update(statement.text().getBytes(StandardCharsets.UTF_8));
            verified = verifier.verify(Base64.getDecoder().decode(signature));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            verified = false;
        }
        if (!verified) {
            throw new RefusedRevisionException(
                    Reason.SIGNATURE,
                    "the signature of revision " + revision()
                            + " is wrong: it was made with another key than fleet.config_public_key_file, or for"
                            + " another text");
        }
        if (!statement.fleet().equals(fleet)) {
            throw new RefusedRevisionException(
                    Reason.OTHER_FLEET,
                    "revision " + revision() + " is of fleet '" + statement.fleet() + "', this is '" + fleet + "'");
        }
    }

    /** Returns the number of the revision. */
    public long revision() {
        return statement.revision();
    }
}
