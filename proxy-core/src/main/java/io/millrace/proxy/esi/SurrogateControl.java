package io.millrace.proxy.esi;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import java.util.Locale;

/** The fields Surrogate-Control and Surrogate-Capability (Edge Architecture Specification 1.0). No state. */
public final class SurrogateControl {
    /** Response field that says which surrogates (reverse proxies such as this one) process the content, and how. */
    public static final FieldName CONTROL = FieldName.of("Surrogate-Control");

    /** Request field that tells the origin the capabilities of surrogates. */
    public static final FieldName CAPABILITY = FieldName.of("Surrogate-Capability");

    /** The value of Surrogate-Capability that this proxy sends. */
    public static final String OWN_CAPABILITY = "millrace=\"ESI/1.0\"";

    private static final String TOKEN = "millrace";
    private static final String ESI = "ESI/1.0";

    private SurrogateControl() {}

    /** Returns true if a response asks this surrogate, or any, to process ESI 1.0: {@code content="ESI/1.0"}. */
    public static boolean asksForEsi(FieldSection response) {
        for (int line = response.find(CONTROL); line >= 0; line = response.next(CONTROL, line)) {
            for (String directive : response.value(line).split(",", -1)) {
                if (isEsi(directive)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isEsi(String directive) {
        String[] parts = directive.split(";", -1);
        String content = parts[0].strip();
        int equals = content.indexOf('=');
        if (equals < 0
                || !content.substring(0, equals)
                        .strip()
                        .toLowerCase(Locale.ROOT)
                        .equals("content")) {
            return false;
        }
        // A parameter may limit the directive to one named surrogate.
        for (int i = 1; i < parts.length; i++) {
            if (!parts[i].strip().equals(TOKEN)) {
                return false;
            }
        }
        String value = content.substring(equals + 1).strip();
        for (String each : value.replace("\"", "").split(" ", -1)) {
            if (each.equals(ESI)) {
                return true;
            }
        }
        return false;
    }
}
