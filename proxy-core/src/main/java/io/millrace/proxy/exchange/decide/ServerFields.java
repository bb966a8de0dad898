package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.config.key.ViaConfig.ServerField;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import org.jspecify.annotations.Nullable;

/** What answers say in Server (RFC 9110 s10.2.4): applied once, when an origin's head arrives, so that it holds for what is stored too. */
public final class ServerFields {
    private final ServerField policy;
    private final String own;

    ServerFields(ServerField policy, String own) {
        this.policy = policy;
        this.own = own;
    }

    /** The field of the answers that the proxy makes itself; null for none. */
    public @Nullable String ofLocalAnswers() {
        return policy == ServerField.OFF ? null : own;
    }

    /** The head as it is to be stored and sent on. */
    public ResponseHead applyTo(ResponseHead head) {
        boolean present = head.fields().contains(FieldName.SERVER);
        boolean same =
                switch (policy) {
                    case PASS -> true;
                    case MISSING -> present;
                    case OFF -> !present;
                    case OWN -> false;
                };
        // A 304 updates the fields that it has: one that it lacks stays as it was stored.
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
