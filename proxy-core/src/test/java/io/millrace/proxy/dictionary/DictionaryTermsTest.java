package io.millrace.proxy.dictionary;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.TargetUri;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the field Use-As-Dictionary. */
class DictionaryTermsTest {
    private static final TargetUri URL = (TargetUri) TargetUri.parseAbsolute("https://site.example/a.js");

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "match=\"/*\" | true",
                "match=\"/*\", id=\"v1\", type=raw | true",
                "match=\"/*\", type=\"raw\" | false",
                "match=\"/*\", type=trained | false",
                "match=/* | false",
                "match=token | false",
                "id=\"v1\" | false",
                "match=\"/*\", match-dest=(\"script\" \"style\") | true",
                "match=\"/*\", match-dest=\"script\" | false",
                "match=\"/*\", match-dest=(script) | false",
                "match=\"/(.*)\" | false"
            })
    void aResponseIsADictionaryIfTheFieldIsValid(String field, boolean isValid) {
        FieldSection fields =
                FieldSection.builder().add("Use-As-Dictionary", field).build();
        assertEquals(isValid, DictionaryTerms.of(fields, URL) != null);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "match=\"/*\" | image | true",
                "match=\"/*\", match-dest=() | image | true",
                "match=\"/*\", match-dest=(\"script\" \"style\") | style | true",
                "match=\"/*\", match-dest=(\"script\" \"style\") | image | false",
                "match=\"/*\", match-dest=(\"script\") | '' | true",
                "match=\"/*\", match-dest=(\"\") | empty | true",
                "match=\"/*\", match-dest=(\"script\") | empty | false",
                "match=\"/b*\", match-dest=(\"script\") | script | false"
            })
    void destinationsAreCompared(String field, String destination, boolean matches) {
        FieldSection fields =
                FieldSection.builder().add("Use-As-Dictionary", field).build();
        FieldSection.Builder request = FieldSection.builder().add("Host", "site.example");
        if (destination != null && !destination.isEmpty()) {
            request.add("Sec-Fetch-Dest", destination);
        }
        assertEquals(matches, DictionaryTerms.of(fields, URL).match(URL, request.build()));
    }
}
