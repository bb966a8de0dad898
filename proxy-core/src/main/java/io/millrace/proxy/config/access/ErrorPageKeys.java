package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.LoadedFile;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.FieldLines;
import java.util.List;

/** Configuration keys for error pages, which replace the text of responses that the proxy generates. */
public final class ErrorPageKeys {
    /** The pages of one remap rule. */
    public static final ConfigKey<List<ConfigValues>> OF_REMAP = ConfigKey.builder(
                    "remap[].error_pages", ValueType.LIST)
            .description("Pages for the requests of this remap rule, as in error_pages; they precede those of"
                    + " error_pages.");

    public static final ConfigKey<List<ConfigValues>> PAGES = ConfigKey.builder("error_pages", ValueType.LIST)
            .atsName("proxy.config.body_factory.template_sets_dir")
            .description("Content of responses with an error status that this proxy generates; see"
                    + " docs/guide/configuring-sites.md. Errors of origins are not changed.");
    public static final ConfigKey<List<String>> STATUS = ConfigKey.builder("error_pages[].status", ValueType.STATUSES)
            .required()
            .description("Status codes of the responses, 400 to 599.");
    public static final ConfigKey<LoadedFile> FILE = ConfigKey.builder("error_pages[].file", ValueType.FILE)
            .required()
            .description("File with the content, at most 64 KiB. It is read again at each reload.");
    public static final ConfigKey<String> CONTENT_TYPE = ConfigKey.builder(
                    "error_pages[].content_type", ValueType.STRING)
            .defaultsTo("text/html; charset=utf-8")
            .description("Media type of the content.");
    public static final ConfigKey<FieldLines> SET_RESPONSE_HEADER = ConfigKey.builder(
                    "error_pages[].set_response_header", ValueType.FIELD_LINES)
            .description("More fields of the response, such as {Retry-After: '120'}.");

    private ErrorPageKeys() {}
}
