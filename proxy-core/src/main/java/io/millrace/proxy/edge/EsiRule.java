package io.millrace.proxy.edge;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.config.edge.EsiConfig;
import io.millrace.proxy.esi.DocumentProperties;
import io.millrace.proxy.esi.SurrogateControl;
import io.millrace.proxy.http.FieldSection;
import org.jspecify.annotations.Nullable;

/** The settings for the assembly of pages (ESI) of one remap rule. Immutable. */
public final class EsiRule {
    private final EsiConfig config;
    /** Bits of {@link DocumentProperties}. A response with at least one of these bits is an ESI document. */
    private final int wanted;

    EsiRule(EsiConfig config) {
        this.config = config;
        this.wanted = DocumentProperties.ASKED
                | (config.when() == EsiConfig.When.ALWAYS ? DocumentProperties.UNENCODED_HTML : 0);
    }

    /**
     * Returns the settings of a remap rule; null if it assembles no pages.
     *
     * @param edge settings of all rules; null for none
     * @param rule index of the rule; negative for none
     */
    public static @Nullable EsiRule of(@Nullable EdgeRules edge, int rule) {
        return edge == null ? null : edge.esi(rule);
    }

    /** The limits. */
    public EsiConfig config() {
        return config;
    }

    /**
     * Returns true if a response with these fields is an ESI document, whatever its status.
     *
     * @param fields fields as the origin sent them
     */
    public boolean isDocument(FieldSection fields) {
        return (DocumentProperties.of(fields) & wanted) != 0;
    }

    /**
     * Returns true if a stored response is an ESI document, and its status is neither 204 nor 3xx. Parses the fields at
     * most at the first call.
     */
    public boolean isDocument(StoredHead stored) {
        int status = stored.status();
        return (marksOf(stored) & wanted) != 0 && status != 204 && (status < 300 || status >= 400);
    }

    private static int marksOf(StoredHead stored) {
        int known = stored.documentMarks();
        if (known < 0) {
            // This check shows for most responses, without parsing their fields, that they have no mark.
            boolean mayHave = stored.isText() || SurrogateControl.CONTROL.hasLineIn(stored.wireBytes());
            known = mayHave ? DocumentProperties.of(stored.fields()) : 0;
            stored.noteDocumentMarks(known);
        }
        return known;
    }
}
