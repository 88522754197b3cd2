{{- define "diptych.name" -}}
{{ .Values.fullnameOverride | default .Release.Name | trunc 52 | trimSuffix "-" }}
{{- end }}

{{- define "diptych.selector" -}}
app.kubernetes.io/name: diptych
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "diptych.labels" -}}
{{ include "diptych.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}
