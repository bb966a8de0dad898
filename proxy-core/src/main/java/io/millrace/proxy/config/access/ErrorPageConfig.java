package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.value.FieldLines;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The content of responses that the proxy generates with some status codes. Immutable.
 *
 * @param statuses the status codes
 * @param file the content
 * @param contentType media type of the content
 * @param fields more fields of the response
 */
public record ErrorPageConfig(List<Integer> statuses, LoadedFile file, String contentType, FieldSection fields) {
    /** Limit of the length of a page, in bytes. */
    public static final int BYTES_MAX = 64 * 1024;

    /** Limit of pages of a list. */
    public static final int PAGES_MAX = 100;

    private static final int ERROR = 400;

    /** Fields that a page must not set: they describe the framing, the connection or the content itself. */
    private static final Set<String> REFUSED = Set.of(
            "age",
            "connection",
            "content-length",
            "content-range",
            "content-type",
            "date",
            "keep-alive",
            "proxy-connection",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade");

    /** The bytes of the content; borrowed, and must not be changed. */
    public byte[] content() {
        return file.content();
    }

    /** Receives the faults of a page. */
    public interface Faults {
        /**
         * Reports a fault.
         *
         * @param key name of the key within the page
         */
        void report(String key, String message);
    }

    /** Reports every fault of a page whose required keys are set. */
    public static void check(ConfigValues element, Faults faults) {
        List<String> statuses = element.find(ErrorPageKeys.STATUS);
        LoadedFile file = element.find(ErrorPageKeys.FILE);
        if (statuses != null && statuses.isEmpty()) {
            faults.report("status", "is empty, so the page would never be used");
        }
        for (String status : statuses == null ? List.<String>of() : statuses) {
            if (Integer.parseInt(status) < ERROR) {
                faults.report("status", status + " is no error; pages are for 400 to 599");
            }
        }
        if (file != null && file.content().length > BYTES_MAX) {
            faults.report("file", file + " has " + file.content().length + " bytes, limit=" + BYTES_MAX);
        }
        if (!element.get(ErrorPageKeys.CONTENT_TYPE).chars().allMatch(c -> c >= ' ' && c <= '~')) {
            faults.report("content_type", "has a character other than visible ASCII characters and spaces");
        }
        FieldLines lines = element.find(ErrorPageKeys.SET_RESPONSE_HEADER);
        for (FieldLines.Line line : lines == null ? List.<FieldLines.Line>of() : lines.lines()) {
            if (REFUSED.contains(line.name().toLowerCase(Locale.ROOT))) {
                faults.report(
                        "set_response_header",
                        line.name()
                                + (line.name().equalsIgnoreCase("Content-Type")
                                        ? ": set it by content_type"
                                        : ": cannot be set, because this proxy computes the field"));
            }
        }
    }

    /**
     * Reads the pages of a list that was checked.
     *
     * @throws IllegalArgumentException if a page has a fault; the message is the fault
     */
    static List<ErrorPageConfig> read(List<ConfigValues> elements, String path) {
        List<ErrorPageConfig> pages = new ArrayList<>();
        for (ConfigValues element : elements) {
            String place = path + "[" + pages.size() + "].";
            check(element, (key, message) -> {
                throw new IllegalArgumentException(place + key + ": " + message);
            });
            FieldSection.Builder fields = FieldSection.builder();
            FieldLines lines = element.find(ErrorPageKeys.SET_RESPONSE_HEADER);
            for (FieldLines.Line line : lines == null ? List.<FieldLines.Line>of() : lines.lines()) {
                fields.add(FieldName.of(line.name()), line.value());
            }
            pages.add(new ErrorPageConfig(
                    element.get(ErrorPageKeys.STATUS).stream()
                            .map(Integer::valueOf)
                            .toList(),
                    element.get(ErrorPageKeys.FILE),
                    element.get(ErrorPageKeys.CONTENT_TYPE),
                    fields.build()));
        }
        return List.copyOf(pages);
    }

    /** Returns the pages of {@code error_pages}. */
    public static List<ErrorPageConfig> general(ConfigValues values) {
        return read(values.elements(ErrorPageKeys.PAGES), "error_pages");
    }

    /** Returns the pages of each remap rule; an empty list if it has none. */
    public static List<List<ErrorPageConfig>> byRemap(ConfigValues values) {
        List<List<ErrorPageConfig>> pages = new ArrayList<>();
        for (ConfigValues rule : values.elements(ConfigKeys.REMAP)) {
            String path = "remap[" + pages.size() + "].error_pages";
            pages.add(
                    rule.isSet(ErrorPageKeys.OF_REMAP) ? read(rule.elements(ErrorPageKeys.OF_REMAP), path) : List.of());
        }
        return List.copyOf(pages);
    }
}
