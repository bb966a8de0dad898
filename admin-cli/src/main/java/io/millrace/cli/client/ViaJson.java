package io.millrace.cli.client;

import io.millrace.cli.via.ViaString;
import java.util.List;

/** Writes decoded letters of Via fields as JSON, for {@code millctl via -o json}. */
public final class ViaJson {
    private ViaJson() {}

    /**
     * Returns {@code {"via":[{"proxy","text","letters":[{"flag","letter","question","means"}]}]}}. The question names
     * the subject of the letter, such as {@code cache lookup}.
     */
    public static byte[] of(List<ViaString> proxies) {
        return JsonText.object(json -> {
            json.writeArrayPropertyStart("via");
            for (ViaString via : proxies) {
                json.writeStartObject();
                json.writeStringProperty("proxy", via.proxy());
                json.writeStringProperty("text", via.text());
                json.writeArrayPropertyStart("letters");
                for (ViaString.Letter letter : via.letters()) {
                    json.writeStartObject();
                    json.writeStringProperty("flag", letter.flag());
                    json.writeStringProperty("letter", String.valueOf(letter.letter()));
                    json.writeStringProperty("question", letter.question());
                    json.writeStringProperty("means", letter.means());
                    json.writeEndObject();
                }
                json.writeEndArray();
                json.writeEndObject();
            }
            json.writeEndArray();
        });
    }
}
