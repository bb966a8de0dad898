package io.millrace.cli.command;

import java.util.Iterator;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The format of a command's result. */
enum OutputFormat {
    /** Lines of text. */
    TABLE,
    /** The JSON of the admin API. */
    JSON;

    /** The values, for completion. */
    static final class Words implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return List.of("table", "json").iterator();
        }
    }

    static final class Converter implements ITypeConverter<OutputFormat> {
        @Override
        public OutputFormat convert(String value) {
            return switch (value) {
                case "table" -> TABLE;
                case "json" -> JSON;
                default -> throw new TypeConversionException("'" + value + "' is neither table nor json");
            };
        }
    }
}
