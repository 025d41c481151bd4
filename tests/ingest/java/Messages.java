import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.TreeMap;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.paimon.data.InternalArray;
import org.apache.paimon.flink.action.cdc.CdcSourceRecord;
import org.apache.paimon.flink.action.cdc.TypeMapping;
import org.apache.paimon.flink.action.cdc.format.AbstractRecordParser;
import org.apache.paimon.flink.action.cdc.format.DataFormatFactory;
import org.apache.paimon.flink.action.cdc.serialization.CdcJsonDeserializationSchema;
import org.apache.paimon.flink.sink.cdc.RichCdcMultiplexRecord;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.utils.TypeUtils;

/**
 * Says what Paimon's actions make of messages: for each line "format key value" (the latter two in
 * base64, "-" if there is none) a line of JSON.
 */
public final class Messages {
    private static final CdcJsonDeserializationSchema READ = new CdcJsonDeserializationSchema();
    private static final ObjectMapper WRITE = new ObjectMapper();

    private Messages() {}

    public static void main(String[] args) throws Exception {
        Scanner lines = new Scanner(System.in, "UTF-8");
        while (lines.hasNextLine()) {
            String[] words = lines.nextLine().split(" ");
            Object said;
            try {
                said = records(words[0], decoded(words[1]), decoded(words[2]));
            } catch (Throwable problem) {
                said = Collections.singletonMap("error", problem.getClass().getSimpleName());
            }
            System.out.println("> " + WRITE.writeValueAsString(said));
        }
    }

    private static byte[] decoded(String word) {
        return word.equals("-") ? null : Base64.getDecoder().decode(word);
    }

    private static List<Object> records(String format, byte[] key, byte[] value) throws Exception {
        AbstractRecordParser parser =
                DataFormatFactory.createDataFormat(format)
                        .createParser(TypeMapping.defaultMapping(), Collections.emptyList());
        CdcSourceRecord read = READ.deserialize(value);
        List<Object> said = new ArrayList<>();
        if (read == null) {
            return said;
        }
        Object keyNode = key == null ? null : READ.deserialize(key).getValue();
        List<RichCdcMultiplexRecord> found = new ArrayList<>();
        parser.flatMap(
                new CdcSourceRecord("topic", keyNode, read.getValue()),
                new ListCollector<>(found));
        for (RichCdcMultiplexRecord record : found) {
            said.add(record(record));
        }
        return said;
    }

    private static Map<String, Object> record(RichCdcMultiplexRecord record) {
        Map<String, Object> said = new LinkedHashMap<>();
        said.put("table", record.databaseName() + "." + record.tableName());
        said.put("keys", record.cdcSchema().primaryKeys());
        Map<String, String> texts = record.toRichCdcRecord().toCdcRecord().data();
        Map<String, Object> types = new TreeMap<>();
        Map<String, Object> row = new TreeMap<>();
        for (DataField field : record.cdcSchema().fields()) {
            types.put(field.name(), field.type().asSQLString());
            String text = texts.get(field.name());
            row.put(field.name(), text == null ? null : value(text, field.type()));
        }
        said.put("types", types);
        said.put("kind", record.toRichCdcRecord().toCdcRecord().kind().shortString());
        said.put("row", row);
        return said;
    }

    private static Object value(String text, DataType type) {
        Object value;
        try {
            value = TypeUtils.castFromCdcValueString(text, type);
        } catch (Throwable problem) {
            return Collections.singletonMap("error", problem.getClass().getSimpleName());
        }
        if (value == null) {
            return null;
        }
        if (value instanceof byte[]) {
            StringBuilder hex = new StringBuilder();
            for (byte one : (byte[]) value) {
                hex.append(String.format("%02x", one));
            }
            return hex.toString();
        }
        if (type instanceof ArrayType) {
            List<String> members = new ArrayList<>();
            InternalArray array = (InternalArray) value;
            for (int at = 0; at < array.size(); at++) {
                members.add(array.getString(at).toString());
            }
            return members;
        }
        return value.toString();
    }
}
