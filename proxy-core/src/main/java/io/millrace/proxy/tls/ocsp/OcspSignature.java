package io.millrace.proxy.tls.ocsp;

import java.io.IOException;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.NoSuchAlgorithmException;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.PSSParameterSpec;
import java.util.Map;

/**
 * Verifies signatures of OCSP responses. Accepts only algorithms that TLS clients accept, without SHA-1 and MD5.
 * Thread-safe: no state.
 */
final class OcspSignature {
    private static final String RSA_PSS = "1.2.840.113549.1.1.10";

    private static final Map<String, String> NAMES = Map.of(
            "1.2.840.113549.1.1.11", "SHA256withRSA",
            "1.2.840.113549.1.1.12", "SHA384withRSA",
            "1.2.840.113549.1.1.13", "SHA512withRSA",
            "1.2.840.10045.4.3.2", "SHA256withECDSA",
            "1.2.840.10045.4.3.3", "SHA384withECDSA",
            "1.2.840.10045.4.3.4", "SHA512withECDSA",
            "1.3.101.112", "Ed25519",
            "1.3.101.113", "Ed448");

    private OcspSignature() {}

    /**
     * Returns true if a signature is valid.
     *
     * @param algorithm content of an AlgorithmIdentifier
     */
    static boolean verifies(PublicKey key, DerReader algorithm, byte[] message, byte[] signed)
            throws GeneralSecurityException {
        String identifier = algorithm.identifier();
        Signature signature;
        if (identifier.equals(RSA_PSS)) {
            signature = Signature.getInstance("RSASSA-PSS");
            signature.setParameter(parameters(algorithm));
        } else {
            String name = NAMES.get(identifier);
            if (name == null) {
                throw new NoSuchAlgorithmException("the signature algorithm " + identifier + " is not accepted");
            }
            signature = Signature.getInstance(name);
        }
        signature.initVerify(key);
        signature.update(message);
        return signature.verify(signed);
    }

    private static PSSParameterSpec parameters(DerReader algorithm) throws GeneralSecurityException {
        try {
            AlgorithmParameters parameters = AlgorithmParameters.getInstance("RSASSA-PSS");
            parameters.init(algorithm.rest());
            PSSParameterSpec spec = parameters.getParameterSpec(PSSParameterSpec.class);
            if (spec.getDigestAlgorithm().equals("SHA-1")) {
                throw new NoSuchAlgorithmException("SHA-1 is not accepted");
            }
            return spec;
        } catch (IOException e) {
            throw new GeneralSecurityException(e.getMessage(), e);
        }
    }
}
