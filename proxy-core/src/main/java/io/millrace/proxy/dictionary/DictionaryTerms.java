package io.millrace.proxy.dictionary;

import io.millrace.proxy.caching.settings.DictionaryRules;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http.structured.BareItem;
import io.millrace.proxy.http.structured.Member;
import io.millrace.proxy.http.structured.StructuredFields;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The terms of Use-As-Dictionary (RFC 9842 s2.1): the requests for which a response may be a dictionary. Immutable.
 */
public final class DictionaryTerms {
    private static final FieldName SEC_FETCH_DEST = FieldName.of("Sec-Fetch-Dest");

    /** The keys of the field, and the only type of RFC 9842. */
    private static final String MATCH = "match";

    private static final String DESTINATIONS = "match-dest";
    private static final String TYPE = "type";
    private static final String RAW = "raw";

    /** Limit of {@code match-dest}; the Fetch standard has about 20 destinations. */
    private static final int DESTINATIONS_MAX = 64;

    private final DictionaryPattern pattern;
    private final List<String> destinations;

    private DictionaryTerms(DictionaryPattern pattern, List<String> destinations) {
        this.pattern = pattern;
        this.destinations = List.copyOf(destinations);
    }

    /**
     * Returns the terms of a response.
     *
     * @param url the client's URL of the response, to which the pattern is relative
     * @return null without a valid field, or if the type of the dictionary is not raw
     */
    public static @Nullable DictionaryTerms of(FieldSection responseFields, TargetUri url) {
        Map<String, Member> members = StructuredFields.dictionary(responseFields, DictionaryRules.USE_AS_DICTIONARY);
        if (members == null
                || !(members.get(MATCH) instanceof Member.Item match)
                || !(match.value() instanceof BareItem.SfString text)) {
            return null;
        }
        Member type = members.get(TYPE);
        if (type != null
                && !(type instanceof Member.Item item
                        && item.value() instanceof BareItem.SfToken token
                        && token.value().equals(RAW))) {
            return null;
        }
        List<String> destinations = destinations(members.get(DESTINATIONS));
        DictionaryPattern pattern = DictionaryPattern.of(text.value(), url);
        return pattern == null || destinations == null ? null : new DictionaryTerms(pattern, destinations);
    }

    private static @Nullable List<String> destinations(@Nullable Member member) {
        if (member == null) {
            return List.of();
        }
        if (!(member instanceof Member.InnerList list) || list.items().size() > DESTINATIONS_MAX) {
            return null;
        }
        List<String> destinations = new ArrayList<>();
        for (Member.Item item : list.items()) {
            if (!(item.value() instanceof BareItem.SfString destination)) {
                return null;
            }
            destinations.add(destination.value());
        }
        return destinations;
    }

    /**
     * Returns true if the dictionary may be used for the response to a request of the same origin. If the client
     * sends no Sec-Fetch-Dest, {@code match-dest} does not restrict it (RFC 9842 s2.1.2).
     */
    public boolean match(TargetUri url, FieldSection requestFields) {
        if (!destinations.isEmpty()) {
            String destination = requestFields.get(SEC_FETCH_DEST);
            // "empty" is the value of Sec-Fetch-Dest for the destination that is the empty string.
            String name = "empty".equals(destination) ? "" : destination;
            if (name != null && !destinations.contains(name)) {
                return false;
            }
        }
        return pattern.matches(url);
    }
}
