package io.millrace.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;

/** Tests the remark about the clock when an issuer's certificate is not valid. */
class ClockHintTest {
    private static IOException handshake(Exception cause) {
        IOException failure = new SSLHandshakeException("PKIX path validation failed");
        failure.initCause(new CertPathValidatorException("validity check failed", cause));
        return failure;
    }

    @Test
    void aCertificateThatIsNotValidNamesTheClock() {
        for (Exception cause : new Exception[] {
            new CertificateNotYetValidException("NotBefore: x"), new CertificateExpiredException("NotAfter: x")
        }) {
            String hint = AcmeIssuer.clockHint(handshake(cause));
            assertTrue(hint.startsWith("; the clock of this machine shows "), hint);
            assertTrue(hint.endsWith(": if that is wrong, set the clock"), hint);
        }
    }

    @Test
    void otherFailuresNameNoClock() {
        assertEquals("", AcmeIssuer.clockHint(new IOException("refused")));
    }
}
