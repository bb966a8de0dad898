package io.millrace.proxy.exchange.settings;

import io.millrace.proxy.config.key.ViaConfig.ServerField;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import org.jspecify.annotations.Nullable;

/**
 * Sets the Server field of responses (RFC 9110 s10.2.4). Applied once, when an origin's head arrives, so that the
 * stored head contains the result. Immutable.
 */
public final class ServerFields {
    private final ServerField policy;
    private final String own;

    ServerFields(ServerField policy, String own) {
        this.policy = policy;
        this.own = own;
    }

    /** The Server field of responses that this proxy generates; null for none. */
    public @Nullable String ofLocalAnswers() {
        return policy == ServerField.OFF ? null : own;
    }

    /** Returns the head to store and forward. */
    public ResponseHead applyTo(ResponseHead head) {
        boolean present = head.fields().contains(FieldName.SERVER);
        boolean same =
                switch (policy) {
                    case PASS -> true;
                    case MISSING -> present;
                    case OFF -> !present;
                    case OWN -> false;
                };
        // A 304 updates only the fields that it contains. If it has no Server field, the stored Server field remains.
        if (same || (head.status() == 304 && !present)) {
            return head;
        }
        FieldSection from = head.fields();
        FieldSection.Builder fields = FieldSection.builder();
        for (int line = 0; line < from.size(); line++) {
            if (!from.isNamed(line, FieldName.SERVER)) {
                fields.addLine(from, line);
            }
        }
        if (policy != ServerField.OFF) {
            fields.add(FieldName.SERVER, own);
        }
        return head.withFields(fields.build());
    }
}
